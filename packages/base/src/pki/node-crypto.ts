/** Node's cryptography, loaded at first use: it takes several milliseconds, and most programs that import this module issue no certificates. */
export const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto')
