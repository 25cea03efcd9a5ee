import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** A modal dialog. Escape closes it, and the focus returns to where it was. */
export function Dialog(props: {
  readonly label: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Only close() returns the focus; removing the element does not.
    return () => dialog?.close()
  }, [])
  return (
    // The event also comes after the removal, when another dialog may be open.
    <dialog ref={element} aria-label={props.label} onClose={() => element.current !== null && props.onClose()}>
      {props.children}
    </dialog>
  )
}
