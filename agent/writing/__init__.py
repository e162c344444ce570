"""Reports to Markdown in English and Chinese; all text meant for people is made here."""
