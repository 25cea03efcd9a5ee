import type { Credentials } from '../rest/credentials.ts'
import type { RotatingFile } from './rotating-file.ts'

/** As client-go: read again every minute, ten seconds early. */
export const tokenFilePeriod = 50_000

/** A bearer token in a file that is replaced now and then; read again at once when the server refuses it. */
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
