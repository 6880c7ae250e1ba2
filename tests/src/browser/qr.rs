//! Reading a QR code, as a camera's software does once it has found the modules (ISO/IEC 18004): the mask is taken off, the bits
//! are read in their zigzag, the blocks are put in order. A picture on a screen has no damage, so nothing needs correcting.
