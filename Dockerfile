# The labelling site in a container: not root, nothing written outside /data and /tmp. See docs/deploy.md.
FROM python:3.11-slim
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE /src/
COPY src /src/src
RUN python -m venv /opt/likewise
RUN /opt/likewise/bin/python -m pip install --no-cache-dir -c /src/constraints.txt "/src[postgresql]"
RUN mkdir -p /data && chown 10001:10001 /data
ENV PATH=/opt/likewise/bin:/usr/local/bin:/usr/bin:/bin HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["/opt/likewise/bin/python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["/opt/likewise/bin/likewise"]
CMD ["label", "serve", "/data/workspace", "--host", "0.0.0.0", "--port", "8000", "--log-requests"]
