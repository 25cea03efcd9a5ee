import { describe, expect, test } from 'vitest'
import { addApi } from './add-api.ts'
import { addWebhook } from './add-webhook.ts'
import { initProject } from './init-project.ts'
import { formatProject, parseProject } from './project.ts'

const code = "x'; globalThis.stolen = 1; '"

describe('parseProject()', () => {
  const project = addWebhook(
    addApi(
      initProject({
        domain: 'my.domain',
        projectName: 'homes',
        owner: "Jane O'Neil */",
        repo: 'github.com/jane/homes',
      }),
      {
        group: 'ajd',
        version: 'v1',
        kind: 'Home',
        image: { image: 'r.io:5000/a/b:1@sha256:00', containerCommand: "sh, -c, echo '1'", containerPort: '80' },
      },
      [],
    ),
    { group: 'ajd', version: 'v1', kind: 'Home', defaulting: true, defaultingPath: '/my-path' },
    [],
  )
  const [resource] = project.resources!

  test('reads what the commands write', () => {
    expect(parseProject(formatProject(project))).toEqual(project)
  })

  // The scaffold inserts these texts into TypeScript, Makefiles, YAML and file names.
  test.each([
    ['projectName', { ...project, projectName: code }],
    ['domain', { ...project, domain: code }],
    ['repo', { ...project, repo: `a\n${code}` }],
    ['owner', { ...project, plugins: { 'ts.kubewright.dev/v1': { license: 'apache2', owner: `Jane\n${code}` } } }],
    ['kind', { ...project, resources: [{ ...resource, kind: `Home ${code}` }] }],
    ['kind', { ...project, resources: [{ ...resource, kind: '../../Home' }] }],
    ['version', { ...project, resources: [{ ...resource, version: '../v1' }] }],
    ['group', { ...project, resources: [{ ...resource, group: '../..' }] }],
    ['plural', { ...project, resources: [{ ...resource, plural: code }] }],
    ['path', { ...project, resources: [{ ...resource, path: '../../.ssh/config' }] }],
    ['path', { ...project, resources: [{ ...resource, path: '/etc/passwd' }] }],
    ['module', { ...project, resources: [{ ...resource, module: `a@1 ${code}` }] }],
    ['name', { ...project, resources: [{ ...resource, controllers: [{ name: code }] }] }],
    ['defaultingPath', { ...project, resources: [{ ...resource, webhooks: { defaultingPath: `/${code}` } }] }],
    ['spoke.0', { ...project, resources: [{ ...resource, webhooks: { spoke: [code] } }] }],
    ['image', { ...project, plugins: { p: { resources: [{ options: { image: code } }] } } }],
    ['runAsUser', { ...project, plugins: { p: { resources: [{ options: { image: 'a', runAsUser: code } }] } } }],
  ])('rejects a %s with code', (field, hostile) => {
    const text = formatProject(hostile as unknown as typeof project)
    expect(() => parseProject(text)).toThrow(new RegExp(`^PROJECT has an invalid [\\w.[\\]]*${field}: `))
  })
})
