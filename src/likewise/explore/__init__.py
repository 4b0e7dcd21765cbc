"""Looking at a catalog through its encoders: neighbours, the map, copies, and where models differ."""
