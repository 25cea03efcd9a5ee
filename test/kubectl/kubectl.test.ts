// Runs the real kubectl against `kubewright up --memory`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from './kubectl.ts'

const missing = kubectlMissing()
let folder: TemporaryFolder
let up: UpProcess
let kubectl: Kubectl

// Only the controllers that these tests need, so that Deployments are not changed.
const serverControllers = 'clusterrole-aggregation-controller,validatingadmissionpolicy-status-controller'

beforeAll(async () => {
  if (missing !== undefined) return
  folder = new TemporaryFolder()
  up = await UpProcess.start(['--memory', '--controllers', serverControllers], folder.path)
  kubectl = new Kubectl(up.kubeconfig, folder.path)
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

/**
 * Tests of features that Debian's kubectl 1.20 lacks: subcommands, conditions of wait, the output of explain and of
 * validation.
 */
const newer = new Set([
  'apply, diff, scale, set and wait drive a Deployment',
  'apply validates fields before and on the server',
  'explain shows fields and their types',
  'auth can-i and whoami reflect RBAC',
  'create serviceaccount and create token produce a valid credential',
  'create pod, service, job, ingress and similar commands pass defaulting and validation',
  'finds custom resources as soon as they are defined',
])

beforeEach(({ skip, task }) => {
  const reason = missing ?? (newer.has(task.name) ? kubectlTooOld() : undefined)
  if (reason !== undefined) skip(reason)
})

const deployment = (image: string, replicas = 2): string => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: { app: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - name: web
        image: ${image}
        ports: [{ containerPort: 80 }]
`

/** A namespace for one test. */
async function namespaced(name: string): Promise<(args: readonly string[], input?: string) => Promise<string>> {
  await kubectl.run(['create', 'namespace', name])
  return (args, input) => kubectl.run(['-n', name, ...args], input)
}

describe('kubectl', () => {
  test('version, cluster-info, api-resources and api-versions describe a v1.35 server', async () => {
    expect(await kubectl.run(['version', '-o', 'json'])).toContain('"gitVersion": "v1.35.8"')
    expect(await kubectl.run(['cluster-info'])).toContain(up.server)
    const resources = await kubectl.run(['api-resources'])
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m)
    expect(resources).toMatch(/^nodes +no +v1 +false +Node$/m)
    expect(await kubectl.run(['api-versions'])).toContain('rbac.authorization.k8s.io/v1\n')
    expect(await kubectl.run(['get', '--raw', '/readyz'])).toBe('ok')
  })

  test('create, get in every form, label, annotate and delete work on ConfigMaps', async () => {
    const k = await namespaced('forms')
    expect(await k(['create', 'configmap', 'a', '--from-literal=color=blue'])).toBe('configmap/a created\n')
    await k(['create', 'configmap', 'b', '--from-literal=color=red'])
    expect(await k(['label', 'configmap', 'a', 'tier=front'])).toBe('configmap/a labeled\n')
    expect(await k(['annotate', 'configmap', 'a', 'note=x'])).toBe('configmap/a annotated\n')
    expect(await k(['get', 'cm', '--no-headers', '-l', 'tier=front'])).toMatch(/^a +1 +\d+s\n$/)
    expect(await k(['get', 'cm', '-L', 'tier', '--no-headers', 'a'])).toMatch(/front\n$/)
    expect(await k(['get', 'cm', 'a', '-o', 'jsonpath={.data.color}'])).toBe('blue')
    expect(await k(['get', 'cm', '-o', 'name', '--sort-by=.data.color'])).toBe('configmap/a\nconfigmap/b\n')
    expect(await k(['get', 'cm', '-o', 'custom-columns=N:.metadata.name,C:.data.color', '--no-headers'])).toMatch(
      /^a +blue\nb +red\n$/,
    )
    expect(await k(['get', 'cm', 'a', '-o', 'yaml'])).toMatch(
      /^apiVersion: v1\ndata:\n {2}color: blue\nkind: ConfigMap\n/,
    )
    expect(JSON.parse(await k(['get', 'cm', '-o', 'json'])).items).toHaveLength(2)
    expect(await k(['get', 'cm', '--field-selector', 'metadata.name=b', '-o', 'name'])).toBe('configmap/b\n')
    expect(await k(['get', 'cm', '--chunk-size=1', '-o', 'name'])).toBe('configmap/a\nconfigmap/b\n')
    expect(await k(['describe', 'cm', 'a'])).toContain('Data\n====\ncolor:\n----\nblue\n')
    expect(await k(['patch', 'cm', 'a', '-p', '{"data":{"color":"green"}}'])).toBe('configmap/a patched\n')
    expect(await k(['patch', 'cm', 'a', '--type=json', '-p', '[{"op":"remove","path":"/data/color"}]'])).toBe(
      'configmap/a patched\n',
    )
    expect(await k(['delete', 'cm', 'a', 'b'])).toMatch(/configmap "a" deleted.*\nconfigmap "b" deleted.*\n/)
    expect((await kubectl.try(['-n', 'forms', 'get', 'cm', 'a'])).error).toBe(
      'Error from server (NotFound): configmaps "a" not found\n',
    )
  })

  test('apply, diff, scale, set and wait drive a Deployment', async () => {
    const k = await namespaced('client-side')
    const file = join(folder.path, 'deployment.yaml')
    writeFileSync(file, deployment('nginx:1.26'))
    expect(await k(['apply', '-f', file])).toBe('deployment.apps/web created\n')
    expect(await k(['apply', '-f', file])).toBe('deployment.apps/web unchanged\n')
    writeFileSync(file, deployment('nginx:1.27'))
    const diff = await kubectl.try(['-n', 'client-side', 'diff', '-f', file])
    expect(diff.code).toBe(1)
    expect(diff.out).toMatch(/-\s+- image: nginx:1\.26\n\+\s+- image: nginx:1\.27/)
    expect(await k(['apply', '-f', file])).toBe('deployment.apps/web configured\n')
    expect(await k(['scale', 'deployment', 'web', '--replicas=5'])).toBe('deployment.apps/web scaled\n')
    expect(await k(['set', 'image', 'deployment/web', 'web=nginx:1.28'])).toBe('deployment.apps/web image updated\n')
    expect(await k(['get', 'deploy', 'web', '-o', 'wide', '--no-headers'])).toMatch(
      /^web +0\/5 +0 +0 +\d+s +web +nginx:1\.28 +app=web\n$/,
    )
    expect(await k(['wait', 'deployment/web', '--for=jsonpath={.spec.replicas}=5', '--timeout=5s'])).toBe(
      'deployment.apps/web condition met\n',
    )
    const described = await k(['describe', 'deployment', 'web'])
    expect(described).toContain('Replicas:               5 desired | 0 updated | 0 total | 0 available | 0 unavailable')
    expect(await k(['delete', '-f', file])).toMatch(/^deployment.apps "web" deleted/)
    expect(await k(['wait', 'deployment/web', '--for=delete', '--timeout=5s'])).toBeDefined()
  })

  test('apply --server-side owns fields, and reports conflicts', async () => {
    const k = await namespaced('server-side')
    const apply = ['apply', '--server-side', '-f', '-']
    expect(await k([...apply, '--field-manager=one'], deployment('nginx:1.26'))).toBe(
      'deployment.apps/web serverside-applied\n',
    )
    const conflict = await kubectl.try(['-n', 'server-side', ...apply, '--field-manager=two'], deployment('nginx:1.27'))
    expect(conflict.code).toBe(1)
    expect(conflict.error).toContain('Apply failed with 1 conflict: conflict with "one"')
    expect(conflict.error).toContain('.spec.template.spec.containers[name="web"].image')
    await k([...apply, '--field-manager=two', '--force-conflicts'], deployment('nginx:1.27'))
    expect(await k(['get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'])).toBe(
      'nginx:1.27',
    )
    const dry = [...apply, '--field-manager=two', '--force-conflicts', '--dry-run=server']
    expect(await k(dry, deployment('nginx:1.27', 9))).toContain('serverside-applied (server dry run)')
    expect(await k(['get', 'deploy', 'web', '-o', 'jsonpath={.spec.replicas}'])).toBe('2')
  })

  test('apply validates fields before and on the server', async () => {
    const bad = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: bad }\nspec: {}\n'
    const refused = await kubectl.try(['apply', '-f', '-'], bad)
    expect(refused.code).toBe(1)
    expect(refused.error).toContain('strict decoding error: unknown field "spec"')
    const warned = await kubectl.try(['apply', '--validate=warn', '-f', '-'], bad)
    expect(warned.error).toContain('Warning: unknown field "spec"')
    expect(warned.out).toBe('configmap/bad created\n')
    const invalid = await kubectl.try(['create', '-f', '-'], deployment('""'))
    expect(invalid.error).toContain('spec.template.spec.containers[0].image: Required value')
  })

  test('get --watch shows changes', async () => {
    const k = await namespaced('watched')
    await k(['create', 'configmap', 'first'])
    using watch = kubectl.follow(['-n', 'watched', 'get', 'cm', '--watch', '-o', 'name'])
    await watch.next(1)
    await k(['create', 'configmap', 'second'])
    await watch.next(2)
    await k(['delete', 'configmap', 'first'])
    await watch.next(3)
    expect(watch.lines).toEqual(['configmap/first', 'configmap/second', 'configmap/first'])
  })

  test('explain shows fields and their types', async () => {
    const replicas = await kubectl.run(['explain', 'deployment.spec.replicas'])
    expect(replicas).toMatch(/GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: replicas <integer>/)
    const strategy = await kubectl.run(['explain', 'deployment.spec.strategy'])
    expect(strategy).toContain('How new pods replace old ones.')
    expect(strategy).toMatch(/^ {2}rollingUpdate\t<RollingUpdateDeployment>\n {4}Limits of a rolling update;/m)
    const recursive = await kubectl.run(['explain', 'pod.spec.containers', '--recursive'])
    expect(recursive).toMatch(/^ {2}env\t<\[\]EnvVar>\n {4}name\t<string>/m)
    const unknown = await kubectl.try(['explain', 'pod.spec.nothing'])
    expect(unknown.error).toContain('field "nothing" does not exist')
  })

  test('auth can-i and whoami reflect RBAC', async () => {
    expect(await kubectl.run(['auth', 'can-i', 'create', 'pods'])).toBe('yes\n')
    const denied = await kubectl.try(['auth', 'can-i', 'create', 'pods', '--as', 'jane'])
    expect([denied.code, denied.out]).toEqual([1, 'no\n'])
    await kubectl.run(['create', 'rolebinding', 'jane', '--clusterrole=view', '--user=jane'])
    expect(await kubectl.run(['auth', 'can-i', 'list', 'pods', '--as', 'jane'])).toBe('yes\n')
    expect(await kubectl.run(['get', 'pods', '--as', 'jane'])).toBe('')
    expect((await kubectl.try(['delete', 'ns', 'default', '--as', 'jane'])).error).toContain(
      'Error from server (Forbidden): namespaces "default" is forbidden: User "jane" cannot delete resource "namespaces"',
    )
    expect(await kubectl.run(['auth', 'whoami'])).toMatch(/Groups +\[system:masters system:authenticated\]/)
  })

  test('create serviceaccount and create token produce a valid credential', async () => {
    const k = await namespaced('tokens')
    await k(['create', 'serviceaccount', 'robot'])
    await k(['create', 'rolebinding', 'robot', '--clusterrole=edit', '--serviceaccount=tokens:robot'])
    const token = (await k(['create', 'token', 'robot'])).trim()
    // An empty kubeconfig, so that the token is the only credential.
    const config = ['--server', up.server, '--insecure-skip-tls-verify', '--token', token, '-n', 'tokens']
    const empty = new Kubectl('/dev/null', folder.path)
    expect(await empty.run([...config, 'create', 'configmap', 'made'])).toBe('configmap/made created\n')
    expect((await empty.try([...config, 'get', 'nodes'])).error).toContain(
      'User "system:serviceaccount:tokens:robot" cannot list resource "nodes"',
    )
  })

  test('create pod, service, job, ingress and similar commands pass defaulting and validation', async () => {
    const k = await namespaced('kinds')
    await k(['create', 'serviceaccount', 'default'])
    expect(await k(['run', 'p', '--image=nginx'])).toBe('pod/p created\n')
    expect(await k(['get', 'pod', 'p', '--no-headers'])).toMatch(/^p +0\/1 +Pending +0 +\d+s\n$/)
    expect(await k(['expose', 'pod', 'p', '--port=80'])).toBe('service/p exposed\n')
    expect(await k(['get', 'svc', 'p', '--no-headers'])).toMatch(/^p +ClusterIP +10\.\d+\.\d+\.\d+ +<none> +80\/TCP/)
    expect(await k(['create', 'job', 'j', '--image=busybox'])).toBe('job.batch/j created\n')
    expect(await k(['create', 'cronjob', 'c', '--image=busybox', '--schedule=0 * * * *'])).toContain('created')
    expect(await k(['create', 'ingress', 'i', '--rule=a.example.com/*=p:80'])).toContain('created')
    expect(await k(['create', 'quota', 'q', '--hard=pods=5'])).toContain('created')
    expect(await k(['create', 'secret', 'generic', 's', '--from-literal=k=v'])).toBe('secret/s created\n')
    expect(await k(['describe', 'secret', 's'])).toContain('k:  1 bytes')
    expect(await k(['create', 'pdb', 'd', '--selector=app=x', '--min-available=1'])).toContain('created')
    await k(['create', 'deployment', 'web', '--image=nginx'])
    expect(await k(['autoscale', 'deployment', 'web', '--max=3'])).toContain('autoscaled')
    expect(await k(['get', 'all', '-o', 'name'])).toContain('job.batch/j\n')
    expect(await k(['delete', 'pod', 'p', '--force', '--grace-period=0'])).toContain('pod "p" force deleted')
  })

  test('edit changes an object by patch', async () => {
    const k = await namespaced('edited')
    await k(['create', 'configmap', 'e', '--from-literal=color=blue'])
    const editor = join(folder.path, 'editor.sh')
    writeFileSync(editor, '#!/bin/sh\nsed -i s/blue/green/ "$1"\n', { mode: 0o755 })
    const editing = new Kubectl(up.kubeconfig, folder.path, { KUBE_EDITOR: editor })
    expect(await editing.run(['-n', 'edited', 'edit', 'cm', 'e'])).toBe('configmap/e edited\n')
    expect(await k(['get', 'cm', 'e', '-o', 'jsonpath={.data.color}'])).toBe('green')
  })

  test('finds custom resources as soon as they are defined', async () => {
    const k = await namespaced('custom')
    expect(await kubectl.run(['apply', '-f', '-'], homes)).toContain('/homes.ajd.example.com created\n')
    expect(
      await kubectl.run(['wait', 'crd/homes.ajd.example.com', '--for=condition=Established', '--timeout=10s']),
    ).toContain('condition met')
    const home = 'apiVersion: ajd.example.com/v1\nkind: Home\nmetadata: { name: cosy }\nspec: { image: nginx }\n'
    expect(await k(['apply', '-f', '-'], home)).toBe('home.ajd.example.com/cosy created\n')
    expect(await k(['get', 'hm'])).toMatch(/^NAME +IMAGE +REPLICAS\ncosy +nginx +1\n$/)
    expect(await k(['scale', 'home', 'cosy', '--replicas=3'])).toBe('home.ajd.example.com/cosy scaled\n')
    expect(await k(['explain', 'home.spec.replicas'])).toMatch(
      /FIELD: replicas <integer>\s+DESCRIPTION:\s+How many to run/,
    )
    const bad = await kubectl.try(['-n', 'custom', 'apply', '-f', '-'], home.replace('nginx', '""'))
    expect(bad.error).toContain('spec.image in body should be at least 1 chars long')
    expect(await kubectl.run(['delete', 'crd', 'homes.ajd.example.com'])).toContain('deleted')
    expect((await kubectl.try(['-n', 'custom', 'get', 'hm'])).code).toBe(1)
  })
})

const homes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: homes.ajd.example.com }
spec:
  group: ajd.example.com
  scope: Namespaced
  names: { plural: homes, singular: home, kind: Home, shortNames: [hm] }
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas }
    additionalPrinterColumns:
    - { name: Image, type: string, jsonPath: .spec.image }
    - { name: Replicas, type: integer, jsonPath: .spec.replicas }
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              image: { type: string, minLength: 1 }
              replicas: { type: integer, default: 1, description: How many to run }
          status:
            type: object
            properties:
              replicas: { type: integer }
`
