def read(data, limits): raise NotImplementedError
