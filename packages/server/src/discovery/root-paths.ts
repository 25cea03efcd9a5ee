import { encodeJson } from '@kubewright/api'
import type { PathHandler } from '../request/path-handler.ts'
import { respondText } from '../request/respond.ts'
import type { DiscoveryIndex } from './discovery-index.ts'

/** Serves / with the list of all paths: those of discovery and those that `more` returns. */
export function rootPaths(index: DiscoveryIndex, more: () => readonly string[]): PathHandler {
  return ({ info }) => {
    if (info.path !== '/' && info.path !== '/index.html') return undefined
    const paths = new Set(['/api', '/apis', '/apis/', ...more()])
    for (const { name, versions } of index.groups.values()) {
      const root = name === '' ? '/api' : `/apis/${name}`
      paths.add(root)
      for (const { version } of versions) paths.add(`${root}/${version}`)
    }
    return respondText(200, encodeJson({ paths: [...paths].sort() }, { indent: '  ' }), 'application/json')
  }
}
