import { spawnSync } from 'node:child_process'
import { openSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forbearSide } from './forbear-side.mjs'
import { freePort, SIDE_CORE, start, stop, untilReady } from './processes.mjs'

export const BARE_RELAY = 'bare undici relay'
export const FORBEAR = 'forbear, access log off'
export const FORBEAR_LOGGING = 'forbear, log to a file'
export const HTTP_PROXY = 'http-proxy 1.18.1'

/** Starts each side that can be had, in turn; `directory` is for their files. */
export async function startSides(targetPort, directory) {
  const wanted = [
    [BARE_RELAY, () => nodeSide('bare-relay.mjs', targetPort, 'undici')],
    [FORBEAR, () => forbear(targetPort, ['--access-log', 'off'], 'ignore')],
    [FORBEAR_LOGGING, () => forbear(targetPort, ['--log-level', 'info'], openSync(join(directory, 'log'), 'w'))],
    [HTTP_PROXY, () => nodeSide('http-proxy-1.mjs', targetPort, 'http-proxy-1')],
    ['@fastify/http-proxy', () => nodeSide('fastify-http-proxy.mjs', targetPort, '@fastify/http-proxy')],
    ['HAProxy', () => nativeSide('haproxy', targetPort, directory, haproxyConfig, ['-f'])],
    ['nginx', () => nativeSide('nginx', targetPort, directory, nginxConfig, ['-c'])],
  ]
  const sides = []
  for (const [name, begin] of wanted) {
    const side = await begin()
    if (side === null) console.log(`${name}: not installed, left out`)
    else sides.push({ name, ...side })
  }
  return sides
}

async function nodeSide(script, targetPort, packageName) {
  if (!resolvable(packageName)) return null
  const port = await freePort()
  const args = [fileURLToPath(new URL(`sides/${script}`, import.meta.url)), String(port), String(targetPort)]
  return ready(start(SIDE_CORE, process.execPath, args), port, '/x', `http://127.0.0.1:${port}/x`)
}

async function forbear(targetPort, flags, stdout) {
  const port = await freePort()
  const { args, health, directory } = await forbearSide(port, targetPort, flags)
  const child = start(SIDE_CORE, process.execPath, args, ['ignore', stdout, 'inherit'])
  child.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return ready(child, port, '/bench/x', `http://127.0.0.1:${health}/readyz`)
}

async function nativeSide(command, targetPort, directory, configOf, flag) {
  if (spawnSync(command, ['-v']).error !== undefined) return null
  const port = await freePort()
  const config = join(directory, `${command}.conf`)
  writeFileSync(config, configOf(port, targetPort, directory))
  return ready(start(SIDE_CORE, command, [...flag, config]), port, '/x', `http://127.0.0.1:${port}/x`)
}

async function ready(child, port, path, url) {
  try {
    await untilReady(url, child)
  } catch (error) {
    await stop(child)
    throw error
  }
  return { child, port, path }
}

function resolvable(packageName) {
  try {
    createRequire(import.meta.url).resolve(packageName)
    return true
  } catch (error) {
    return error.code !== 'MODULE_NOT_FOUND'
  }
}

const haproxyConfig = (port, targetPort) => `global
  nbthread 1
defaults
  mode http
  timeout connect 3s
  timeout client 60s
  timeout server 60s
frontend app
  bind 127.0.0.1:${port}
  default_backend target
backend target
  http-reuse always
  server one 127.0.0.1:${targetPort}
`

const nginxConfig = (port, targetPort, directory) => `daemon off;
master_process off;
pid ${directory}/nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  upstream target { server 127.0.0.1:${targetPort}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://target; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`
