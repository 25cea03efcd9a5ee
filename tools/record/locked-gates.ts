// Finds the feature gates that accept only their default, in the declarations of Kubernetes.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The names of the locked gates of a release. `checkout` is a folder with the sources of Kubernetes. */
export function lockedGates(checkout: string, version: string): ReadonlySet<string> {
  const limit = minorOf(version)
  const locked = new Set<string>()
  for (const file of featureFiles(checkout)) {
    const source = readFileSync(file, 'utf8')
    for (const [, name, specs] of source.matchAll(/^\t(?:\w+\.)?(\w+): \{\n((?:\t\t.*\n)*?)\t\},?$/gm)) {
      // The last specification of this release or an earlier one applies.
      const lines = [...specs!.matchAll(/Version: version\.MustParse\("([\d.]+)"\)(.*)/g)]
      const current = lines.filter(([, since]) => minorOf(since!) <= limit).at(-1)
      if (current?.[2]?.includes('LockToDefault: true')) locked.add(name!)
    }
  }
  return locked
}

function featureFiles(checkout: string): string[] {
  const folders = [
    'pkg/features',
    'staging/src/k8s.io/apiserver/pkg/features',
    'staging/src/k8s.io/apiextensions-apiserver/pkg/features',
    'staging/src/k8s.io/controller-manager/pkg/features',
    'staging/src/k8s.io/component-base/metrics/features',
    'staging/src/k8s.io/component-base/logs/api/v1',
    'staging/src/k8s.io/client-go/features',
  ]
  return folders.flatMap((folder) => {
    const path = join(checkout, folder)
    return readdirSync(path)
      .filter((file) => file.endsWith('.go') && !file.endsWith('_test.go'))
      .map((file) => join(path, file))
  })
}

function minorOf(version: string): number {
  return Number(/^v?1\.(\d+)/.exec(version)?.[1])
}
