// A person at a browser without scripts: keeps the provider's cookies, follows redirects, and fills in and sends the
// forms that the provider shows.

/** What to press on which page, first match first. */
const BUTTONS = ['login-submit', 'consent-allow', 'logout-yes', 'form-post-submit']
const MOST_PAGES = 12

/** A page that leads nowhere. */
export class NothingToPress extends Error {
  constructor(html, response) {
    super(`nothing to press at ${response.url} (${response.status}):\n${html}`)
    this.heading = /<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1]
  }
}

export class Person {
  /** Ids of the buttons pressed so far. */
  pressed = []
  #cookies = new Map()
  #answers

  constructor({ username, password }) {
    this.#answers = { username, password }
  }

  /**
   * Opens an address and does what the pages ask, until the browser is sent to one that begins with `home`. Returns that
   * request unsent: it belongs to the application.
   */
  async visit(url, home) {
    let request = new Request(url)
    for (let page = 0; page < MOST_PAGES; page++) {
      if (request.url.startsWith(home)) return request
      const response = await this.#send(request)
      const to = response.headers.get('location')
      request = to ? new Request(new URL(to, request.url)) : this.#answer(await response.text(), response)
    }
    throw new Error(`still at ${request.url} after ${MOST_PAGES} pages`)
  }

  async #send(request) {
    const headers = new Headers(request.headers)
    headers.set('cookie', [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    if (request.method === 'POST') headers.set('origin', new URL(request.url).origin)
    const response = await fetch(request, { headers, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
      if (/;\s*max-age=0/i.test(cookie)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return response
  }

  /** The request that pressing the right button sends. */
  #answer(html, response) {
    const button = BUTTONS.find((id) => html.includes(`id="${id}"`))
    const form = [...html.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)].find(([whole]) => whole.includes(`id="${button}"`))
    if (!form) throw new NothingToPress(html, response)
    const fields = new URLSearchParams()
    for (const [tag] of form[2].matchAll(/<(?:input|button)\b[^>]*>/g)) {
      const { type, id, name, value } = attributes(tag)
      if (!name || type === 'checkbox' || (tag.startsWith('<button') && id !== button)) continue
      fields.append(name, this.#answers[name] ?? value ?? '')
    }
    this.pressed.push(button)
    return new Request(new URL(attributes(form[1]).action, response.url), { method: 'POST', body: fields })
  }
}

function attributes(tag) {
  const pairs = [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, unescape(value)])
  return Object.fromEntries(pairs)
}

function unescape(text) {
  const named = { amp: '&', lt: '<', gt: '>', quot: '"' }
  return text.replace(/&(?:#(x?)([\da-f]+)|(\w+));/gi, (_, hex, number, name) =>
    name ? named[name] : String.fromCodePoint(parseInt(number, hex ? 16 : 10)),
  )
}
