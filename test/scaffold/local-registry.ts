import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import type { PackedPackage } from './packed-modules.ts'

/** The deadline for the upstream registry to answer. */
const patienceMillis = 10_000

/** A registry on loopback that serves packed packages, and forwards other requests to the configured registry. */
export interface LocalRegistry extends AsyncDisposable {
  readonly url: string
}

/** The registry of the npm configuration. */
export function configuredRegistry(): string {
  // Outside the workspace, which has npm settings of its own.
  const text = execFileSync('npm', ['config', 'get', 'registry'], { cwd: tmpdir(), encoding: 'utf8', stdio: 'pipe' })
  return text.trim().replace(/\/$/, '')
}

/** The reason why a registry does not serve a package; undefined if it does. */
export async function whyUnreachable(registry: string, name: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${registry}/${name}`, { method: 'HEAD', signal: AbortSignal.timeout(patienceMillis) })
    return answer.ok ? undefined : `it answers ${answer.status}`
  } catch (error) {
    const { message, cause } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}

/** The environment of a fresh npm that uses a registry: no settings, and all caches in a folder. */
export function npmEnvironment(registry: string, folder: string): NodeJS.ProcessEnv {
  // This test may run under npm, which passes variables to scripts. They must not reach the new npm.
  const others = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_OPTIONS$|VITEST)/i.test(name))
  const userconfig = join(folder, 'npmrc')
  writeFileSync(userconfig, '')
  return {
    ...Object.fromEntries(others),
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: registry,
    npm_config_userconfig: userconfig,
  }
}

/** Starts a registry with these packages in front of another one. */
export async function startLocalRegistry(packages: readonly PackedPackage[], behind: string): Promise<LocalRegistry> {
  const tarballs = new Map(packages.map(({ tarball }) => [basename(tarball), readFileSync(tarball)]))
  const manifests = new Map(packages.map((one) => [one.manifest.name, one]))
  const server = http.createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').slice(1))
    const one = manifests.get(path)
    if (one !== undefined) {
      const tarball = basename(one.tarball)
      const text = JSON.stringify(packument(one, `${url}/-/${tarball}`, tarballs.get(tarball)!))
      // The same lifetime as npm's own registry.
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }).end(text)
      return
    }
    const tarball = tarballs.get(path.slice('-/'.length))
    if (tarball !== undefined) {
      const headers = {
        'content-type': 'application/octet-stream',
        'cache-control': 'public, immutable, max-age=31557600',
      }
      response.writeHead(200, headers).end(tarball)
      return
    }
    handOn(request, response, behind)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The metadata of a package with one version. */
function packument({ manifest }: PackedPackage, tarball: string, bytes: Buffer): object {
  const { name, version } = manifest
  const digest = (algorithm: string, encoding: 'base64' | 'hex'): string =>
    createHash(algorithm).update(bytes).digest(encoding)
  const dist = { tarball, integrity: `sha512-${digest('sha512', 'base64')}`, shasum: digest('sha1', 'hex') }
  return { _id: name, name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}

/** Forwards a request and its response unchanged. */
function handOn(request: IncomingMessage, response: ServerResponse, behind: string): void {
  const target = new URL(behind + (request.url ?? '/'))
  const options = {
    method: request.method,
    headers: { ...request.headers, host: target.host },
    timeout: patienceMillis,
  }
  const onward = (target.protocol === 'https:' ? https : http).request(target, options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('timeout', () => onward.destroy(new Error(`No answer after ${patienceMillis} ms`)))
  onward.on('error', ({ message }) => {
    if (response.headersSent) response.destroy()
    else response.writeHead(502, { 'content-type': 'text/plain' }).end(message)
  })
  request.pipe(onward)
}
