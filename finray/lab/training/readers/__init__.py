"""Fine-tunes the small models that read a question beside rows of tables and beside sentences."""
