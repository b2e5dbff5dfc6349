import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate for 127.0.0.1 that vouches for itself, made anew so that none can expire. */
export function selfSigned(): { cert: Buffer; key: Buffer; certFile: string } {
  const folder = mkdtempSync(join(tmpdir(), 'forbear-tls-'))
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...key, '-out', certFile, '-days', '2', ...subject], { stdio: 'ignore' })
  return { cert: readFileSync(certFile), key: readFileSync(keyFile), certFile }
}
