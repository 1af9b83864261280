"""Repeated training trials: does learning from these labels help, and by how much?"""
