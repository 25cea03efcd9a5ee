import type { Context, Draft } from 'kubewright'
import { Deployment } from 'kubewright/k8s'
import type { Home } from './home.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const ok = <T extends true>(): void => void 0 as unknown as T as never
ok<Equal<Home['spec'], { readonly image: string; readonly replicas: number; readonly domain?: string }>>()
ok<Equal<Draft<typeof Home>['spec'], { image: string; replicas?: number; domain?: string }>>()
ok<Equal<NonNullable<Home['status']>['conditions'][number]['type'], 'Ready'>>()
declare const apply: Context['apply']
const d = apply(Deployment({ metadata: { name: 'a' }, spec: { selector: {}, template: {} } }))
ok<Equal<Awaited<typeof d>, Deployment>>()
