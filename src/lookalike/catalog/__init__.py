"""Files to a catalog: folders, tables and data frames are read, photos checked, splits drawn, duplicates found."""
