"""The book on paper and in a reader: one PDF and one EPUB, made of the committed notebooks; nothing is executed."""
