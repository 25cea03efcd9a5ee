import { useEffect, useRef } from 'preact/hooks'
import { focusView } from './use-view-focus.ts'

/** Shortcuts of the whole page. */
export interface Shortcuts {
  readonly palette: () => void
  readonly help: () => void
}

/** Whether a key presses the focused control, such as Enter on a button. */
export function isPressing({ target }: Event): boolean {
  return target instanceof HTMLElement && target.closest('button, a, summary') !== null
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
      else if (event.key === 'Escape' && isTyping(event) && (event.target as HTMLElement).closest('dialog') === null)
        focusView()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
