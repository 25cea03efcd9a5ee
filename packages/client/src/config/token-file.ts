import type { Credentials } from '../rest/credentials.ts'
import type { RotatingFile } from './rotating-file.ts'

/** The interval at which a token file is read again: one minute minus ten seconds, as in client-go. */
export const tokenFilePeriod = 50_000

/**
 * A bearer token in a file that is rotated. The file is read again periodically, and immediately when the server
 * rejects the token.
 */
export function tokenFromFile(file: RotatingFile, fallback?: string): Credentials {
  let text = ''
  let headers: Readonly<Record<string, string>> = {}
  const read = async (): Promise<string> => {
    try {
      return (await file.read()).trim()
    } catch (error) {
      if (fallback !== undefined) return fallback
      throw error
    }
  }
  return {
    headers: async () => {
      const token = await read()
      if (token !== text) {
        text = token
        headers = { authorization: `Bearer ${token}` }
      }
      return headers
    },
    renew: () => {
      file.drop()
      return true
    },
  }
}
