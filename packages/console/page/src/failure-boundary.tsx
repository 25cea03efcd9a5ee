import { Component, type ComponentChildren } from 'preact'
import { text } from './text.ts'

interface Properties {
  /** The address of the view. Another view is tried again. */
  readonly place: string
  readonly children: ComponentChildren
}

/** Shows the error of a view that cannot be drawn in its place, so that the rest of the page stays usable. */
export class FailureBoundary extends Component<Properties, { readonly error: Error | undefined }> {
  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override componentDidUpdate({ place }: Properties): void {
    if (this.state.error !== undefined && place !== this.props.place) this.setState({ error: undefined })
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <div class="empty" role="alert">
        <p class="problem">{text('viewFailed', error.message)}</p>
      </div>
    )
  }
}
