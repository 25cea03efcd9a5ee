// Scaffolded projects must compile and pass their own tests without changes.
import { describe, expect, test } from 'vitest'
import { temporaryProject } from './temporary-project.ts'

const minutes = 60_000

describe('a scaffolded project', { timeout: 4 * minutes }, () => {
  test('with a kind, webhooks and a second version has few files, compiles and passes its tests', async () => {
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
    expect(output).toContain('5 passed (5)')
  })

  // One project for all cases, because each one needs a run of the compiler and of the test runner.
  test('with several groups, external kinds, images, second controllers and reserved words compiles and passes its tests', async () => {
    using project = temporaryProject()
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
    const api = (text: string): string[] => ['create', 'api', '--version', 'v1', ...text.split(' ')]
    const webhook = (text: string): string[] => ['create', 'webhook', ...text.split(' ')]
    const imported = '--external-api-path src/imported/certificate.ts --external-api-domain io'
    const container = '--image-container-command memcached,-m=64,-v --image-container-port 11211 --run-as-user 1001'
    const steps = [
      ['init', '--yes', '--multigroup', '--license', 'none'],
      api('--group ship --kind Frigate --namespaced=false --plural frigatez'),
      api('--group ship --kind Frigate --resource=false --controller-name captain-backup'),
      api('--group sea --kind Frigate'),
      webhook('--group sea --kind Frigate --defaulting'),
      api('--group sea --kind HTTPRoute --controller=false'),
      api('--group sea --kind Class'),
      api('--group sea --kind Operator'),
      api(`--group cache --kind Memcached --image memcached:1.6.26-alpine3.19 ${container}`),
      api('--group apps --kind Deployment --resource=false'),
      webhook('--group core --version v1 --kind Pod --defaulting'),
      api(`--group cert-manager --kind Certificate ${imported}`),
      webhook('--kind Certificate --programmatic-validation'),
    ]
    for (const step of steps) expect(await project.kubewright(...step)).toMatchObject({ code: 0 })
    expect(await project.typecheck()).toBe('')
    const { output } = await project.test()
    expect(output).toMatch(/Test Files {2}11 passed \(11\)/)
  })
})
