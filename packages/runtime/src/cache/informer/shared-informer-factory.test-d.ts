import type { Kind, KubeObject } from '@kubewright/api'
import type { SharedInformerFactory } from './shared-informer-factory.ts'

interface Home extends KubeObject {
  readonly spec: { readonly rooms: number; readonly doors: readonly string[] }
}

declare const Home: Kind<Home, Home>
declare const factory: SharedInformerFactory

const { lister, informer, addHandler } = factory.use(Home)

// Objects have the type of the kind.
export const rooms: number = lister.get('a').spec.rooms
export const doors: readonly string[] | undefined = informer.store.get('ns/a')?.spec.doors
informer.store.addIndexer('rooms', (home) => [String(home.spec.rooms)])
addHandler({ onUpdate: (before, after) => void (before.spec.rooms - after.spec.rooms) })

// Objects of a store are shared: modifying them is a compile error.
// @ts-expect-error
lister.get('a').spec.rooms = 2
// @ts-expect-error
lister.get('a').spec.doors.push('back')
// @ts-expect-error
lister.get('a').metadata.labels.app = 'x'
// @ts-expect-error
addHandler({ onAdd: (home) => home.spec.windows })
