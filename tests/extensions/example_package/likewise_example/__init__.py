"""How bright are the pictures?"""
