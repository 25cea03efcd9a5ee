// kubectl kustomize builds config/ to the objects of install.yaml.
import { parseManifests } from '@kubewright/api'
import { defineOperator, type Operator } from '@kubewright/runtime'
import { beforeEach, describe, expect, test } from 'vitest'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { operator as home } from '../../examples/home/src/operator.ts'
import { operator as secSynch } from '../../examples/sec-synch/src/operator.ts'
import { installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import type { ManifestOptions } from '../../packages/cli/src/manifests/manifest-options.ts'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { type DescribeOptions, describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from '../kubectl/kubectl.ts'
import { TemporaryFolder } from './temporary-folder.ts'

beforeEach(({ skip }) => {
  const reason = kubectlMissing() ?? kubectlTooOld()
  if (reason !== undefined) skip(reason)
})

const idOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`
const sorted = (objects: readonly Manifest[]): Manifest[] => [...objects].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
const plain = (objects: readonly Manifest[]): unknown => JSON.parse(JSON.stringify(sorted(objects)))

const kustomize = async (operator: Operator, options: ManifestOptions & DescribeOptions): Promise<Manifest[]> => {
  using folder = new TemporaryFolder()
  folder.write(manifestsOf(operator, options))
  const text = await new Kubectl('/dev/null', folder.path).run(['kustomize', `${folder.path}/config/default`])
  return parseManifests(text) as Manifest[]
}

const watching = defineOperator({
  ...home,
  namespaces: ['north', 'south'],
  leaderElection: { namespace: 'leases' },
})

const cases: [string, Operator, ManifestOptions & DescribeOptions][] = [
  ['with webhooks and conversions', home, {}],
  ['without webhooks', appService, { image: 'registry:5000/app/service:v2' }],
  ['with all options', home, { certManager: true, prometheus: true, networkPolicy: true, namespace: 'homes' }],
  ['whose replicas share the work', defineOperator({ ...secSynch, sharding: true, leaderElection: false }), {}],
  ['that watches only its own namespace', home, { namespaced: true }],
  ['that watches some namespaces', watching, {}],
  ['without resources', defineOperator({ name: 'bare', controllers: [] }), { image: `a/b@sha256:${'0'.repeat(64)}` }],
]

describe('kubectl kustomize config/default', () => {
  test.each(cases)('builds the objects of install.yaml for an operator %s', async (_, operator, options) => {
    const built = await kustomize(operator, options)
    expect(sorted(built)).toEqual(plain(installObjects(describeOperator(operator, options), options)))
  })

  test.each(['config/crd', 'config/samples', 'config/prometheus', 'config/network-policy', 'config/certmanager'])(
    'builds %s',
    async (part) => {
      using folder = new TemporaryFolder()
      folder.write(manifestsOf(home, { certManager: true }))
      expect(await new Kubectl('/dev/null', folder.path).run(['kustomize', `${folder.path}/${part}`])).toContain(
        'kind:',
      )
    },
  )
})
