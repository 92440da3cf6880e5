"""The kernel that grows isolation trees: `grow`, trees on all threads; `split`, what is drawn at a node; `records`."""
