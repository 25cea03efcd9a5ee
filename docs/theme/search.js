// The search, which pages load together with the index when a reader opens it.
import MiniSearch from 'minisearch'
import { indexOptions, search } from '../../tools/site/search.ts'

let index
globalThis.kubewrightSearch = {
  load(data) {
    index = MiniSearch.loadJS(data, indexOptions)
  },
  search: (query, language) => search(index, query, language),
}
