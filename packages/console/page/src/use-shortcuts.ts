import { useEffect, useRef } from 'preact/hooks'

/** Shortcuts of the whole page. */
export interface Shortcuts {
  readonly palette: () => void
  readonly help: () => void
}

/** Whether the user types a text, so that letters are no shortcuts. */
export function isTyping({ target }: Event): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isPalette =
        (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === ':' && !isTyping(event))
      if (isPalette) latest.current.palette()
      else if (event.key === '?' && !isTyping(event)) latest.current.help()
      else if (event.key === '/' && !isTyping(event)) document.querySelector<HTMLInputElement>('[data-filter]')?.focus()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
