// The data of the source server: custom resources of about 1.5 KiB with managedFields, encoded like an API server
// encodes them.

/** Versions have a fixed width, so that they can be replaced in encoded text. */
const versionWidth = 10
const placeholder = '1'.repeat(versionWidth)

export const sitesPath = '/apis/example.com/v1/websites'

/** Returns the namespace and name of an object by index. */
export function siteName(index: number): { readonly namespace: string; readonly name: string } {
  return { namespace: `team-${String(index % 50).padStart(2, '0')}`, name: `site-${String(index).padStart(6, '0')}` }
}

/** Returns the text form of a resource version. */
export function versionText(version: number): string {
  return String(10 ** (versionWidth - 1) + version)
}

function site(index: number): object {
  const { name, namespace } = siteName(index)
  const fields = {
    'f:spec': { 'f:domains': {}, 'f:image': {}, 'f:mode': {}, 'f:paths': {}, 'f:replicas': {}, 'f:resources': {} },
  }
  const owned = { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } } } }
  // Keys are sorted, like those of custom resources in responses of kube-apiserver.
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

/** The encoded objects of a source, created once. */
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

  /** Returns an encoded page of the list. The continue token is the index of the first object of the next page. */
  page(start: number, limit: number): Buffer {
    const end = Math.min(this.count, start + limit)
    const items = this.#texts.slice(start, end).map((text, i) => stamped(text, versionText(start + i)))
    const next = end < this.count ? { continue: String(end), remainingItemCount: this.count - end } : {}
    const metadata = JSON.stringify({ ...next, resourceVersion: versionText(this.count) })
    const head = `{"apiVersion":"example.com/v1","items":[`
    return Buffer.from(`${head}${items.join(',')}],"kind":"WebSiteList","metadata":${metadata}}\n`)
  }

  /**
   * Returns lines of a watch: `count` objects from index `first` on, cyclically, with resource versions from `version`
   * on.
   */
  lines(type: 'ADDED' | 'MODIFIED', first: number, count: number, version: number): Buffer {
    let text = ''
    for (let i = 0; i < count; i++) {
      const object = stamped(this.#texts[(first + i) % this.count]!, versionText(version + i))
      text += `{"type":"${type}","object":${object}}\n`
    }
    return Buffer.from(text, 'latin1')
  }

  /** Returns the bookmark that ends the initial events. */
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
