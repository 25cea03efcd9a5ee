// Whatever the commands make must compile and pass its own tests as it is.
import { describe, expect, test } from 'vitest'
import { temporaryProject } from './temporary-project.ts'

const minutes = 60_000

describe('a project as it is made', { timeout: 3 * minutes }, () => {
  test('with a kind, webhooks and a second version with conversion has few files, compiles and passes its tests', async () => {
    using project = temporaryProject()
    await project.kubewright('init', '--yes', '--domain', 'example.com', '--owner', 'The Home Authors')
    await project.kubewright('create', 'api', '--group', 'ajd', '--version', 'v1', '--kind', 'Home')
    await project.kubewright('create', 'webhook', '--kind', 'Home', '--defaulting', '--programmatic-validation')
    expect(Object.keys(project.files()).length).toBeLessThan(20)
    await project.kubewright('create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
    const { code } = await project.kubewright('create', 'webhook', '--kind', 'Home', '--version', 'v2', '--conversion')
    expect(code).toBe(0)
    expect(await project.typecheck()).toBe('')
    const { output } = await project.test()
    expect(output).toContain('4 passed (4)')
  })

  test('with kinds of several groups, a cluster-scoped one and second controllers', async () => {
    using project = temporaryProject()
    await project.kubewright('init', '--yes', '--multigroup', '--license', 'none')
    const api = (...args: string[]) => project.kubewright('create', 'api', '--version', 'v1alpha1', ...args)
    const made = [
      await api('--group', 'ship', '--kind', 'Frigate', '--namespaced=false', '--plural', 'frigatez'),
      await api('--group', 'ship', '--kind', 'Frigate', '--resource=false', '--controller-name', 'captain-backup'),
      await api('--group', 'sea', '--kind', 'Frigate'),
      await api('--group', 'sea', '--kind', 'HTTPRoute', '--controller=false'),
      await api('--kind', 'Operator'),
      await project.kubewright('create', 'webhook', '--group', 'sea', '--kind', 'Frigate', '--defaulting'),
    ]
    expect(made.map(({ code, notes }) => [code, notes.split('\n', 1)[0]])).toEqual(
      made.map(() => [0, expect.anything()]),
    )
    expect(await project.typecheck()).toBe('')
    const { code, output } = await project.test()
    expect(output).toContain('6 passed (6)')
    expect(code).toBe(0)
  })

  test('with a ready operator for an image', async () => {
    using project = temporaryProject()
    await project.kubewright('init', '--yes')
    const image = ['--image', 'memcached:1.6.26-alpine3.19', '--image-container-command', 'memcached,-m=64,-v']
    const more = ['--image-container-port', '11211', '--run-as-user', '1001']
    await project.kubewright(
      'create',
      'api',
      '--group',
      'cache',
      '--version',
      'v1',
      '--kind',
      'Memcached',
      ...image,
      ...more,
    )
    expect(await project.typecheck()).toBe('')
    const { code, output } = await project.test()
    expect(output).toContain('2 passed (2)')
    expect(code).toBe(0)
  })

  test('with controllers and webhooks for kinds of Kubernetes and of others', async () => {
    using project = temporaryProject()
    await project.kubewright('init', '--yes')
    const core = ['--group', 'apps', '--version', 'v1', '--kind', 'Deployment', '--resource=false']
    await project.kubewright('create', 'api', ...core)
    await project.kubewright('create', 'webhook', '--group', 'core', '--version', 'v1', '--kind', 'Pod', '--defaulting')
    project.write(
      'src/imported/certificate.ts',
      `import { defineResource, s } from 'kubewright'
export const Certificate = defineResource({
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
  spec: s.object({ secretName: s.string() }),
})
`,
    )
    const external = ['--external-api-path', 'src/imported/certificate.ts', '--external-api-domain', 'io']
    const certificate = ['--group', 'cert-manager', '--version', 'v1', '--kind', 'Certificate', ...external]
    await project.kubewright('create', 'api', ...certificate)
    await project.kubewright('create', 'webhook', '--kind', 'Certificate', '--programmatic-validation')
    expect(await project.typecheck()).toBe('')
    const { code, output } = await project.test()
    expect(output).toContain('3 passed (3)')
    expect(code).toBe(0)
  })
})
