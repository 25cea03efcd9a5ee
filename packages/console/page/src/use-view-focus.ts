import { useEffect, useRef } from 'preact/hooks'

/** The element of the current view that keys act on: the rows of a table, the tabs of an object, or the view itself. */
export function focusView(): void {
  const view = document.querySelector<HTMLElement>('main.view')
  const start = view?.querySelector<HTMLElement>('[data-start]') ?? view
  start?.focus({ preventScroll: true })
}

let isRequested = false

/** Lets the next view take the focus from any element. */
export function requestViewFocus(): void {
  isRequested = true
}

/**
 * Moves the focus into a new view if its element was removed with the old one. Otherwise a keyboard user would start
 * again at the top of the page. The focus of a user who came by a link of the sidebar stays there, and the first view
 * of the page takes no focus.
 */
export function useViewFocus(place: string, isStart: boolean): void {
  const wasStart = useRef(true)
  useEffect(() => {
    const { activeElement } = document
    const isLost = activeElement === null || activeElement === document.body
    if (isRequested || (isLost && !wasStart.current)) focusView()
    isRequested = false
    wasStart.current = isStart
  }, [place])
}
