// Habits of users: flags of kubebuilder, formatting, Windows line ends, and existing npm projects.
import { describe, expect, test } from 'vitest'
import { type TemporaryProject, temporaryProject } from './temporary-project.ts'

const home = ['create', 'api', '--group', 'ajd', '--version', 'v1', '--kind', 'Home']
const webhooks = ['create', 'webhook', '--kind', 'Home', '--defaulting', '--programmatic-validation']

async function did(project: TemporaryProject, ...args: string[]): Promise<string> {
  const { code, out, notes } = await project.kubewright(...args)
  if (code !== 0) throw new Error(`kubewright ${args.join(' ')}: ${notes}`)
  return out
}

describe('flags of kubebuilder', () => {
  test('--repo is recorded, and becomes the repository of the package if it can be one', async () => {
    for (const [repo, repository] of [
      ['myk8soperator', undefined],
      ['example.com/api', 'https://example.com/api'],
      ['git@example.com:jane/homes.git', 'git@example.com:jane/homes.git'],
    ] as const) {
      using project = temporaryProject()
      await did(project, 'init', '--yes', '--repo', repo)
      expect(project.read('PROJECT')).toContain(`repo: ${repo}\n`)
      expect(JSON.parse(project.read('package.json')).repository).toBe(repository)
    }
    using project = temporaryProject()
    const { code, notes } = await project.kubewright('init', '--yes', '--repo', 'two words')
    expect([code, notes]).toEqual([2, '--repo must be a repository, such as github.com/jane/homes, not "two words"'])
  })

  test('without an effect here are ignored', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes', '--skip-go-version-check', '--project-version', '3', '--project-version=3')
    await did(project, ...home, '--make=false', '--manifests=false', '--ssa', '--plugins=go/v4,kustomize/v2')
    const image = ['--image=nginx:1', '--plugins', 'deploy-image/v1-alpha', '--force']
    await did(project, ...home, ...image, '--plugins', 'base.go.kubebuilder.io/v4')
    await did(project, ...webhooks, '--make')
    expect(Object.keys(project.files())).toContain('src/home.webhook.ts')
  })

  test.each([
    [
      ['--plugins', 'deploy-image/v1-alpha'],
      '--plugins deploy-image/v1-alpha is not supported: use kubewright create api --image',
    ],
    [['--plugins=helm/v2-alpha'], '--plugins helm/v2-alpha is not supported: use kubewright generate --helm'],
    [
      ['--plugins=grafana/v1-alpha'],
      '--plugins grafana/v1-alpha is not supported: kubewright generate writes grafana/ without it',
    ],
    [['--plugins', 'go/v4,my/v1'], '--plugins my/v1 is not supported: leave it out, there are no plugins'],
    [['--project-version', '2'], '--project-version must be 3, not "2"'],
  ])('that are not supported name the fix: %j', async (flags, notes) => {
    using project = temporaryProject()
    expect(await project.kubewright('init', '--yes', ...flags)).toMatchObject({ code: 2, notes })
  })
})

test.each(['api', 'webhook'])(
  'create %s refuses a Go module or a missing file for an external kind, and names the fix',
  async (what) => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    const kind = [
      '--group',
      'cert-manager',
      '--version',
      'v1',
      '--kind',
      'CertificateRequest',
      '--external-api-domain',
      'io',
    ]
    const go = 'github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1'
    const notes =
      '--external-api-path must be a TypeScript module, not a Go module: kubewright import writes src/imported/cert-manager.io/certificate-request.ts from the CRD'
    const flags = what === 'api' ? ['--resource=false'] : ['--defaulting']
    const create = (path: string) => project.kubewright('create', what, ...kind, ...flags, '--external-api-path', path)
    expect(await create(go)).toMatchObject({ code: 2, notes })
    const file = 'src/imported/request.ts'
    const missing = `--external-api-path: ${file} does not exist: write it with kubewright import`
    expect(await create(file)).toMatchObject({ code: 2, notes: missing })
    project.write(file, '')
    expect(await create(file)).toMatchObject({ code: 0 })
  },
)

describe('kinds whose names collide with imports of the scaffold', () => {
  test.each([
    [
      ['--kind', 'Draft'],
      '--kind must not be Draft: the generated file imports a type of that name; choose another name',
    ],
    [
      ['--kind', 'Infer'],
      '--kind must not be Infer: the generated file imports a type of that name; choose another name',
    ],
    [
      ['--kind', 'Pod', '--image', 'nginx:1'],
      '--kind must not be Pod with --image, which creates Pods: choose another name',
    ],
    [
      ['--kind', 'Deployment', '--image', 'nginx:1'],
      '--kind must not be Deployment with --image, which creates Deployments: choose another name',
    ],
  ])('are refused: %j', async (flags, notes) => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    expect(await project.kubewright('create', 'api', '--group', 'x', '--version', 'v1', ...flags)).toMatchObject({
      code: 2,
      notes,
    })
  })
})

describe('the formatting of the user', () => {
  test('with Windows line ends counts as unchanged and is preserved', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    await did(project, ...home)
    for (const [path, text] of Object.entries(project.files())) project.write(path, text.replaceAll('\n', '\r\n'))
    const out = await did(project, ...webhooks)
    // Replaced like an unchanged file, not merged.
    expect(out).toContain('updated   src/operator.ts')
    await did(project, 'create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
    for (const path of ['PROJECT', 'src/operator.ts', 'src/home.ts']) {
      expect(project.read(path).replaceAll('\r\n', ''), path).not.toContain('\n')
    }
    expect(await project.kubewright('init', '--replay')).toMatchObject({ code: 0, out: '' })
  })

  test('with tabs and double quotes is preserved', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    await did(project, ...home)
    for (const path of ['src/operator.ts', 'src/home.ts']) {
      const tabs = (spaces: string): string => '\t'.repeat(spaces.length / 2)
      project.write(
        path,
        project
          .read(path)
          .replaceAll(/^(?: {2})+/gm, tabs)
          .replaceAll("'", '"'),
      )
    }
    await did(project, ...webhooks)
    await did(project, 'create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
    await did(project, 'create', 'webhook', '--kind', 'Home', '--version', 'v2', '--conversion')
    const operator = project.read('src/operator.ts')
    expect(operator).toContain('import { homeWebhook } from "./home.webhook.ts"\n')
    expect(operator).toContain('\n\twebhooks: [homeWebhook],\n')
    const kind = project.read('src/home.ts')
    const description = '\t\t\tdescription: "TODO: describe Home.",\n'
    expect(kind).toContain(`\n\t\tv2: {\n\t\t\tstorage: true,\n${description}\t\t\tspec: s.object({\n`)
    expect(`${operator}${kind}`).not.toMatch(/^\t* {2}/m)
  })

  test('with an operator of another name is supported, and tests to adjust are listed', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    project.change(
      'src/operator.ts',
      'export const operator = defineOperator',
      'export const homes = (dns: string) => defineOperator',
    )
    const { notes, code } = await project.kubewright(...home)
    expect(code).toBe(0)
    expect(notes).toContain(
      'src/operator.ts exports no "operator": adjust the import of src/home.test.ts to the name that it exports\n',
    )
    expect(project.read('src/operator.ts')).toContain('controllers: [homeController]')
    project.change('src/operator.ts', 'export const homes', 'const homes')
    project.write('src/operator.ts', `${project.read('src/operator.ts')}export { homes as operator }\n`)
    expect((await project.kubewright(...webhooks)).notes).not.toContain('exports no "operator"')
  })

  test('of an npm package keeps its publication and license settings', async () => {
    using project = temporaryProject()
    const before = { name: '@jane/homes', dependencies: { left: '1.0.0' } }
    project.write('package.json', JSON.stringify(before))
    await did(project, 'init', '--yes', '--repo', 'example.com/jane/homes')
    const {
      private: isPrivate,
      license,
      repository,
      version,
      dependencies,
      type,
    } = JSON.parse(project.read('package.json'))
    expect([isPrivate, license, repository, version]).toEqual([undefined, undefined, undefined, undefined])
    expect([Object.keys(dependencies), type]).toEqual([['left', 'kubewright'], 'module'])
  })
})

test.each([
  ['AppService', 'an AppService'],
  ['Home', 'a Home'],
  ['HTTPRoute', 'an HTTPRoute'],
  ['SecSynch', 'a SecSynch'],
  ['User', 'a User'],
  ['Update', 'an Update'],
  ['Unit', 'a Unit'],
  ['DNSRecord', 'a DNSRecord'],
])('the scaffold of %s calls an object %s', async (kind, called) => {
  using project = temporaryProject()
  await did(project, 'init', '--yes')
  await did(project, 'create', 'api', '--group', 'x', '--version', 'v1', '--kind', kind)
  expect(Object.entries(project.files()).find(([path]) => path.endsWith('.test.ts'))?.[1]).toContain(
    `'${called} becomes`,
  )
})
