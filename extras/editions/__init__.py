"""The whole book as one PDF and as one EPUB, made from the committed notebooks; nothing is executed."""
