def share(total, divisor):
    return total / divisor
