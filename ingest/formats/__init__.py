"""One file a format: bytes of a document in, units with locators out. Runs only inside a parse child."""
