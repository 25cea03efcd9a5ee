// The few requests that the demo makes, over HTTPS as any client would.
import { request } from 'node:https'

interface Answer {
  readonly code: number
  /** One line for people: what was made, or why not. */
  readonly text: string
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[] | null
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

/** Makes requests to the server at the address with a bearer token. */
export function demoClient(url: string, ca: string, token: string) {
  const send = (method: string, path: string, body: unknown, type: string, accept = 'application/json') =>
    new Promise<{ code: number; value: Record<string, unknown> }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type, accept }
      const call = request(url + path, { method, ca, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const json = response.headers['content-type']?.includes('json')
          resolve({ code: response.statusCode ?? 0, value: json ? (JSON.parse(text) as Record<string, unknown>) : {} })
        })
      })
      call.on('error', reject)
      call.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const told = ({ code, value }: { code: number; value: Record<string, unknown> }): Answer => {
    if (code >= 400) return { code, text: `${code} ${String(value['message'])}` }
    const { name } = value['metadata'] as { name: string }
    return { code, text: `${code} ${String(value['kind'])} ${name}` }
  }
  return {
    create: async (path: string, object: unknown): Promise<Answer> =>
      told(await send('POST', path, object, 'application/json')),
    merge: async (path: string, patch: unknown): Promise<Answer> =>
      told(await send('PATCH', path, patch, 'application/merge-patch+json')),
    /** Asks until the path is served. */
    async until(path: string): Promise<void> {
      for (let tries = 0; tries < 100; tries++) {
        if ((await send('GET', path, undefined, 'application/json')).code === 200) return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`${path} was not served within two seconds`)
    },
    /** The table of a watch: what is there, and the given number of changes. */
    watchTable: (path: string, changes: number): Promise<string> =>
      new Promise((resolve, reject) => {
        const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
        const lines: string[][] = []
        const call = request(
          `${url}${path}?watch=1`,
          { ca, headers: { authorization: `Bearer ${token}`, accept } },
          (response) => {
            let rest = ''
            response.on('data', (chunk: Buffer) => {
              const parts = (rest + chunk.toString()).split('\n')
              rest = parts.pop()!
              for (const part of parts) {
                const { type, object } = JSON.parse(part) as { type: string; object: Table }
                if (object.columnDefinitions)
                  lines.push(['EVENT', ...object.columnDefinitions.map((c) => c.name.toUpperCase())])
                for (const row of object.rows)
                  lines.push([type, ...row.cells.map((cell) => (cell === null ? '' : String(cell)))])
              }
              if (lines.length < changes + 2) return
              call.destroy()
              const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
              resolve(
                lines
                  .map((line) =>
                    line
                      .map((cell, i) => cell.padEnd(widths[i]! + 3))
                      .join('')
                      .trimEnd(),
                  )
                  .join('\n'),
              )
            })
          },
        )
        call.on('error', (error) => {
          if (lines.length < changes + 2) reject(error)
        })
        call.end()
      }),
  }
}
