"""x"""
class SparseKernelPCA:
    """y"""
