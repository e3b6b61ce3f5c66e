"""From a watched folder to the record: parsing, chunking, embedding, the library and its caches."""
