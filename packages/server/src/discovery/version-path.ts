import { encodeJson } from '@kubewright/api'
import type { Release } from '@kubewright/k8s/releases'
import type { PathHandler } from '../request/path-handler.ts'
import { respondText } from '../request/respond.ts'
import { checkAccept, notAllowed, notServed } from '../request/route-errors.ts'

/** The document of /version. Clients compare minor versions, so it contains that of the release. */
export function versionInfo({ version, gitVersion }: Release): Readonly<Record<string, string>> {
  const [major = '', minor = ''] = version.split('.')
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'kubewright',
    platform: 'linux/amd64',
  }
}

/** Serves /version. */
export function versionPath(release: Release): PathHandler {
  const text = encodeJson(versionInfo(release), { indent: '  ' })
  return ({ info, request }) => {
    if (info.path !== '/version' && !info.path.startsWith('/version/')) return undefined
    if (info.path.length > '/version/'.length) throw notServed()
    if (request.method !== 'GET') throw notAllowed()
    checkAccept(request.headers['accept'], 'application/json')
    return respondText(200, text, 'application/json')
  }
}
