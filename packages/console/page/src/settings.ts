import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { KindInfo, ResourceName } from '../../src/wire/names.ts'

/** Colours of the page. */
export type Theme = 'auto' | 'light' | 'dark'

const themeKey = 'kubewright-theme'

export function storedTheme(): Theme {
  const theme = localStorage.getItem(themeKey)
  return theme === 'light' || theme === 'dark' ? theme : 'auto'
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(themeKey, theme)
  if (theme === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

/** What all views share. */
export interface Shared {
  readonly kinds: readonly KindInfo[]
  readonly readOnly: boolean
  /** The moment of the recording that the page shows; undefined for the present. */
  readonly at: number | undefined
  readonly setAt: (moment: number | undefined) => void
  /** The time of that moment in milliseconds since the epoch. */
  readonly timeAt: number | undefined
  /** The chosen namespace; empty for all. */
  readonly namespace: string
  /** Shows a short message. */
  readonly notify: (text: string, isError?: boolean) => void
}

export const SharedContext = createContext<Shared>({
  kinds: [],
  readOnly: true,
  at: undefined,
  setAt: () => undefined,
  timeAt: undefined,
  namespace: '',
  notify: () => undefined,
})
export const useShared = (): Shared => useContext(SharedContext)

export function findKind(kinds: readonly KindInfo[], { group, plural }: ResourceName): KindInfo | undefined {
  return kinds.find((kind) => kind.group === group && kind.plural === plural)
}
