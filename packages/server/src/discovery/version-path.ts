import { encodeJson } from '@kubewright/api'
import type { PathHandler } from '../request/path-handler.ts'
import { respondText } from '../request/respond.ts'
import { checkAccept, notAllowed, notServed } from '../request/route-errors.ts'

/** The Kubernetes version that the server implements. */
export const kubernetesVersion = 'v1.35.8'

/** The document of /version. Clients compare minor versions, so it contains the Kubernetes version. */
export const versionInfo: Readonly<Record<string, string>> = {
  major: '1',
  minor: '35',
  emulationMajor: '1',
  emulationMinor: '35',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '34',
  gitVersion: kubernetesVersion,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'kubewright',
  platform: 'linux/amd64',
}

/** Serves /version. */
export function versionPath(): PathHandler {
  const text = encodeJson(versionInfo, { indent: '  ' })
  return ({ info, request }) => {
    if (info.path !== '/version' && !info.path.startsWith('/version/')) return undefined
    if (info.path.length > '/version/'.length) throw notServed()
    if (request.method !== 'GET') throw notAllowed()
    checkAccept(request.headers['accept'], 'application/json')
    return respondText(200, text, 'application/json')
  }
}
