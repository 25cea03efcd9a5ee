import type { ApiRequest } from '@kubewright/api'
import { type Clock, systemRandom, VirtualClock } from '@kubewright/base'
import { MemoryStore } from '@kubewright/storage'
import { type ApiServer, createApiServer, type ServerExtensions, type ServerParts } from '../api-server.ts'
import { type AccessControlOptions, createAccessControl } from '../auth/access-control.ts'
import { ensureBootstrapPolicy } from '../bootstrap/bootstrap-policy.ts'
import { builtinResources } from '../builtins/builtin-resources.ts'
import { defaultServedRelease } from '../codec/served-release.ts'
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from '../plugins/certificates.ts'
import { allBuiltins } from './all-builtins.ts'

/** A decoded response. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

/** Options of {@link AccessFixture.send}. */
export interface SendOptions {
  readonly body?: unknown
  readonly token?: string
  readonly as?: string
  readonly groups?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly peer?: ApiRequest['peer']
}

/** An in-memory server with access control; requests are function calls. The token of the administrator is `root`. */
export class AccessFixture implements AsyncDisposable {
  readonly server: ApiServer
  readonly clock: VirtualClock

  private constructor(server: ApiServer, clock: VirtualClock) {
    this.server = server
    this.clock = clock
  }

  static async start(
    options: AccessControlOptions = {},
    extend: (parts: ServerParts) => ServerExtensions = () => ({}),
  ): Promise<AccessFixture> {
    const access = createAccessControl({
      tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }],
      ...options,
    })
    const clock = new VirtualClock({ start: Date.UTC(2026, 0, 2, 3, 4, 5) })
    const server = await createApiServer({
      store: new MemoryStore(),
      clock: clock as Clock,
      random: systemRandom,
      authenticators: access.authenticators,
      allowsAnonymous: access.allowsAnonymous,
      authorizer: access.authorizer,
      setup: async (parts) => {
        const attached = await access.attach(parts)
        const resources = builtinResources(defaultServedRelease, allBuiltins, { ...parts, access: attached })
        for (const resource of resources) parts.resources.set(resource)
        await ensureBootstrapPolicy(parts)
        const { authorizer } = access
        const admission = [
          certificateApproval(authorizer),
          certificateSigning(authorizer),
          certificateSubjectRestriction,
        ]
        return { admission, paths: attached.paths, ...extend(parts) }
      },
    })
    return new AccessFixture(server, clock)
  }

  /** Sends `METHOD /path` as the administrator, unless a token or peer is given. */
  async send(line: string, options: SendOptions = {}): Promise<Answer> {
    const [method = '', url = ''] = line.split(' ')
    const [path = '', query = ''] = url.split('?')
    const credentials = options.token ?? (options.peer ? undefined : 'root')
    const headers: Record<string, string> = {
      'user-agent': 'test',
      'content-type': 'application/json',
      ...(credentials ? { authorization: `Bearer ${credentials}` } : {}),
      ...options.headers,
    }
    const rawHeaders = Object.entries(headers).flat()
    if (options.as !== undefined) rawHeaders.push('Impersonate-User', options.as)
    for (const group of options.groups ?? []) rawHeaders.push('Impersonate-Group', group)
    const response = await this.server.handler({
      method,
      path,
      query: new URLSearchParams(query),
      headers,
      rawHeaders,
      body: async () => Buffer.from(options.body === undefined ? '' : JSON.stringify(options.body)),
      signal: new AbortController().signal,
      peer: options.peer ?? { address: '127.0.0.1' },
    })
    const text = response.body instanceof Uint8Array ? Buffer.from(response.body).toString() : ''
    const json = String(response.headers['content-type']).includes('json')
    const answer = { status: response.status, body: json ? JSON.parse(text) : text, headers: response.headers }
    // Later requests see this write.
    const { feed, store } = this.server.parts.registry
    await feed.reached(await store.revision())
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]()
  }
}
