import { connection } from './connection.ts'
import { NamespaceSelect } from './namespace-select.tsx'
import { applyTheme, storedTheme, type Theme, useShared } from './settings.ts'
import { type Language, languageNames, type TextName } from './strings.ts'
import { currentLanguage, setLanguage, text } from './text.ts'
import { useLink } from './use-topic.ts'

const themes: Readonly<Record<Theme, TextName>> = { auto: 'themeAuto', light: 'themeLight', dark: 'themeDark' }

/** The bar at the top: the cluster, the state of the connection, the namespace, and settings. */
export function Header(props: {
  readonly namespace: string
  readonly onNamespace: (namespace: string) => void
  readonly onPalette: () => void
  readonly onHelp: () => void
  readonly onRedraw: () => void
}) {
  const link = useLink()
  const { at } = useShared()
  const { hello } = connection
  const isPast = at !== undefined || hello?.isRecording === true
  const state = link === 'open' ? (isPast ? 'past' : 'live') : link === 'lost' ? 'lost' : 'connecting'
  return (
    <header class="header">
      <a class="brand" href="#/start">
        <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
          <path d="M10 1 18 5.5v9L10 19 2 14.5v-9Z" fill="none" stroke="currentColor" stroke-width="1.6" />
          <path d="M7 6v8M7 10l5-4M9 9l4 5" fill="none" stroke="currentColor" stroke-width="1.6" />
        </svg>
        Kubewright
      </a>
      <span class="cluster" title={hello?.server}>
        {hello?.cluster}
      </span>
      {hello?.readOnly && <span class="badge">{text('readOnly')}</span>}
      <span class={`link ${isPast && link === 'open' ? 'connecting' : link}`} role="status">
        {text(state)}
      </span>
      <span class="grow" />
      <NamespaceSelect value={props.namespace} onChange={props.onNamespace} />
      <button type="button" onClick={props.onPalette}>
        {text('palette')} <kbd>Ctrl+K</kbd>
      </button>
      <button type="button" aria-label={text('help')} title={text('help')} onClick={props.onHelp}>
        ?
      </button>
      <select
        aria-label={text('theme')}
        value={storedTheme()}
        onChange={({ currentTarget }) => {
          applyTheme(currentTarget.value as Theme)
          props.onRedraw()
        }}
      >
        {Object.entries(themes).map(([theme, name]) => (
          <option key={theme} value={theme}>
            {text(name)}
          </option>
        ))}
      </select>
      <select
        aria-label={text('language')}
        value={currentLanguage()}
        onChange={({ currentTarget }) => {
          setLanguage(currentTarget.value as Language)
          props.onRedraw()
        }}
      >
        {Object.entries(languageNames).map(([language, name]) => (
          <option key={language} value={language}>
            {name}
          </option>
        ))}
      </select>
    </header>
  )
}
