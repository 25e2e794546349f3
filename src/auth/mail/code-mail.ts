// Composes the mail with a sign-in code, as text and as HTML: the code to type, who asked for it, and nothing to click.
import { escapeHtml } from '../../redact.ts'

export interface CodeMail {
  readonly code: string
  /** Network that asked for the code. */
  readonly network: string
  /** Program that asked for the code, as `programName` describes it. */
  readonly agent: string
  /** Milliseconds since the epoch. */
  readonly askedAt: number
  readonly validMinutes: number
}

export interface MailBody {
  readonly text: string
  readonly html: string
}

/** The mail contains no URLs and no host names, because mail programs turn them into links. */
export function composeCodeMail({ code, network, agent, askedAt, validMinutes }: CodeMail): MailBody {
  const facts = [
    ['When', `${new Date(askedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ['Network', network],
    ['Program', agent],
  ] as const
  const opening = 'Somebody asked to sign in to the workspace gateway with your email address. The code is'
  const advice = [
    `Enter it where you asked for it, within ${validMinutes} minutes. It works once, and only from the network named here.`,
    `If there is only a field for the email, enter your address again with +code-${code} before the @.`,
    'If you did not ask for it, ignore this mail: nobody can sign in without the code. Do not give it to anyone, whoever asks.',
  ]
  return {
    text: [`${opening}\n\n    ${code}`, facts.map(([name, value]) => `${name}: ${value}`).join('\n'), ...advice].join(
      '\n\n',
    ),
    html: [
      '<!doctype html><html lang="en"><head><meta charset="utf-8">',
      '<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">',
      '<title>Sign-in code</title></head><body style="font-family:sans-serif;line-height:1.5;max-width:36em">',
      `<p>${escapeHtml(opening)}</p>`,
      `<p style="font-family:monospace;font-size:2em;letter-spacing:.15em">${escapeHtml(code)}</p>`,
      `<p>${facts.map(([name, value]) => `${escapeHtml(name)}: ${escapeHtml(value)}`).join('<br>')}</p>`,
      ...advice.map((line) => `<p>${escapeHtml(line)}</p>`),
      '</body></html>',
    ].join('\n'),
  }
}
