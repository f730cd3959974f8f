"""The whole book as one PDF and as one EPUB, made of the committed notebooks; nothing is executed."""
