import { execFileSync } from 'node:child_process'
import { parseManifests, parseYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import { renderTemplate } from './render-template.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** The values of a chart. */
export type Values = Record<string, unknown>

/** A rendered chart. */
export interface RenderOptions {
  /** The files of the chart by path, under dist/chart. */
  readonly files: ReadonlyMap<string, { readonly text: string }>
  /** Merged into the values of the chart. */
  readonly values?: Values | undefined
  readonly namespace: string
}

const folder = 'dist/chart/'

/** Renders the objects of a chart with the renderer of the tests. */
export function renderChart({ files, values = {}, namespace }: RenderOptions): Manifest[] {
  const chart = parseYaml(files.get(`${folder}Chart.yaml`)!.text) as { appVersion: string; name: string }
  const scope = {
    Values: merged(parseYaml(files.get(`${folder}values.yaml`)!.text) as Values, values),
    Release: { Namespace: namespace, Service: 'kubewright', Name: 'release' },
    Chart: { AppVersion: String(chart.appVersion), Name: chart.name },
  }
  const helpers = files.get(`${folder}templates/_helpers.tpl`)!.text
  const objects: Manifest[] = []
  for (const [path, { text }] of files) {
    if (!/\/templates\/.*\.yaml$/.test(path)) continue
    objects.push(...(parseManifests(renderTemplate(text, scope, helpers)) as Manifest[]))
  }
  return objects
}

function merged(base: Values, change: Values): Values {
  const result = { ...base }
  for (const [key, value] of Object.entries(change)) {
    const known = result[key]
    const isNested = isJsonObject(known) && isJsonObject(value)
    result[key] = isNested ? merged(known, value) : value
  }
  return result
}

const program = process.env['KUBEWRIGHT_HELM'] ?? 'helm'

/** The reason why helm cannot render charts here; undefined when it can. */
export function helmMissing(): string | undefined {
  try {
    execFileSync(program, ['version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return `${program} cannot be run: install Helm, or name it in KUBEWRIGHT_HELM`
  }
}

/** Renders the objects of a chart with `helm template`. Throws its message, for example for values that the schema rejects. */
export function helmTemplate({ files, values = {}, namespace }: RenderOptions): Manifest[] {
  using temporary = new TemporaryFolder()
  temporary.write([...files].map(([path, { text }]) => [path, text] as const))
  temporary.write([['values.json', JSON.stringify(values)]])
  const args = ['template', 'release', `${temporary.path}/dist/chart`, '--namespace', namespace]
  const text = execFileSync(program, [...args, '--values', `${temporary.path}/values.json`], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return parseManifests(text) as Manifest[]
}
