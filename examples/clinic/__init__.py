"""What the documents of Harbour Road Clinic say, one module a document; not how they become files."""
