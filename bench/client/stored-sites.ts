// What the source of the client benchmark serves: custom resources of about 1.5 KiB with managedFields, as an API server encodes them.

/** Versions have a fixed width, so that an event can be stamped in place. */
const versionWidth = 10
const placeholder = '1'.repeat(versionWidth)

export const sitesPath = '/apis/example.com/v1/websites'

/** The namespace and name of the object of a number. */
export function siteName(index: number): { readonly namespace: string; readonly name: string } {
  return { namespace: `team-${String(index % 50).padStart(2, '0')}`, name: `site-${String(index).padStart(6, '0')}` }
}

/** A version as text. */
export function versionText(version: number): string {
  return String(10 ** (versionWidth - 1) + version)
}

function site(index: number): object {
  const { name, namespace } = siteName(index)
  const fields = {
    'f:spec': { 'f:domains': {}, 'f:image': {}, 'f:mode': {}, 'f:paths': {}, 'f:replicas': {}, 'f:resources': {} },
  }
  const owned = { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } } } }
  // Keys in the order in which kube-apiserver writes those of custom resources: sorted.
  return {
    apiVersion: 'example.com/v1',
    kind: 'WebSite',
    metadata: {
      annotations: {
        'example.com/contact': 'web@example.com',
        'example.com/notes':
          'Handles the summer sale; ask before it is stopped, restarted or moved to another region, please.',
      },
      creationTimestamp: '2026-01-02T03:04:05Z',
      generation: 7,
      labels: { app: `app-${index % 100}`, tier: 'front' },
      managedFields: [
        {
          apiVersion: 'example.com/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: fields,
          manager: 'kubectl',
          operation: 'Apply',
          time: '2026-01-02T03:04:05Z',
        },
        {
          apiVersion: 'example.com/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: owned,
          manager: 'site-operator',
          operation: 'Update',
          subresource: 'status',
          time: '2026-01-02T03:05:05Z',
        },
      ],
      name,
      namespace,
      resourceVersion: placeholder,
      uid: `6b1f7c6e-5c0e-4f0e-9a55-${String(index).padStart(12, '0')}`,
    },
    spec: {
      domains: [`${name}.example.com`, `www.${name}.example.com`],
      image: 'registry.example.com/shop/front:1.27.3',
      maxReplicas: 12,
      mode: 'Dynamic',
      paths: [
        { backend: 'front', path: '/', port: 8080, weight: 100 },
        { backend: 'api', path: '/api', port: 9090, weight: 90 },
      ],
      replicas: 4,
      resources: { cpu: '500m', memory: '256Mi' },
    },
    status: {
      conditions: [
        {
          lastTransitionTime: '2026-01-02T03:05:05Z',
          message: '4/4 replicas are ready',
          observedGeneration: 7,
          reason: 'Serving',
          status: 'True',
          type: 'Ready',
        },
      ],
      readyReplicas: 4,
    },
  }
}

/** The encoded objects of a source, made once. */
export class StoredSites {
  readonly count: number
  readonly #texts: readonly string[]

  constructor(count: number) {
    this.count = count
    this.#texts = Array.from({ length: count }, (_, index) => JSON.stringify(site(index)))
  }

  get meanBytes(): number {
    return this.#texts.reduce((sum, text) => sum + text.length, 0) / this.count
  }

  /** A page of the list, encoded. The token of the next one is the number that it begins with. */
  page(start: number, limit: number): Buffer {
    const end = Math.min(this.count, start + limit)
    const items = this.#texts.slice(start, end).map((text, i) => stamped(text, versionText(start + i)))
    const next = end < this.count ? { continue: String(end), remainingItemCount: this.count - end } : {}
    const metadata = JSON.stringify({ ...next, resourceVersion: versionText(this.count) })
    const head = `{"apiVersion":"example.com/v1","items":[`
    return Buffer.from(`${head}${items.join(',')}],"kind":"WebSiteList","metadata":${metadata}}\n`)
  }

  /** Some lines of a watch: the objects from a number on, in turns, with versions from another number on. */
  lines(type: 'ADDED' | 'MODIFIED', first: number, count: number, version: number): Buffer {
    let text = ''
    for (let i = 0; i < count; i++) {
      const object = stamped(this.#texts[(first + i) % this.count]!, versionText(version + i))
      text += `{"type":"${type}","object":${object}}\n`
    }
    return Buffer.from(text, 'latin1')
  }

  /** The bookmark that ends the initial events. */
  initialEnd(): string {
    const metadata = {
      annotations: { 'k8s.io/initial-events-end': 'true' },
      creationTimestamp: null,
      resourceVersion: versionText(this.count),
    }
    const object = { apiVersion: 'example.com/v1', kind: 'WebSite', metadata }
    return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`
  }
}

function stamped(text: string, version: string): string {
  return text.replace(`"${placeholder}"`, `"${version}"`)
}
