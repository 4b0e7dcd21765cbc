"""The site's addresses, one file per kind of visitor."""
